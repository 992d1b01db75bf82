"""What all commands share."""

import pytest

from pinn.cli import main


def test_version_and_help(capsys):
    for option, start_of_output in (("--version", "pinn "), ("--help", "usage: python -m pinn ")):
        with pytest.raises(SystemExit) as caught:
            main([option])
        assert caught.value.code == 0
        assert capsys.readouterr().out.startswith(start_of_output)


@pytest.mark.parametrize("arguments", [[], ["trian"], ["train"], ["train", "a", "--bogus"]])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: ")
