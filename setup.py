"""What pyproject.toml cannot say: the configs ship inside the package, from their own folder."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["pinn", "pinn.*", "autograd", "autograd.*"]),
        "pinn.configs", "pinn.configs.data",
    ],
    package_dir={"pinn.configs": "configs", "pinn.configs.data": "configs/data"},
)  # fmt: skip
