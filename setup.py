"""What pyproject.toml cannot say: where the configs lie, and that nothing old is built in."""

import shutil

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py


class FreshBuild(build_py):
    """Begins with an empty folder: what an earlier build left there would be installed too."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


setup(
    packages=[
        *find_packages(include=["pinn", "pinn.*", "autograd", "autograd.*"]),
        "pinn.configs", "pinn.configs.data",
    ],
    package_dir={"pinn.configs": "configs", "pinn.configs.data": "configs/data"},
    cmdclass={"build_py": FreshBuild},
)  # fmt: skip
