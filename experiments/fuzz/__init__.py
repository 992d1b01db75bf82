"""Bad input, by the thousand: a config or an expression is taken, or refused in a sentence.

    python -m experiments.fuzz --count 20000
    python -m experiments.fuzz --count 500 --deep        # every config that loads is checked too
"""
