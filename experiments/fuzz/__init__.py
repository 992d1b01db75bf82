"""Bad input, by the million: it is taken, or refused in a sentence, in seconds and little memory.

    python -m experiments.fuzz --inputs 1000000 --seed 0
    python -m experiments.fuzz --inputs 5000 --only summaries metrics --out fuzz.json

Each kind of input is made from its seed, part by part; parts that are done are not tried again.
What is found is kept below tests/fuzz_corpus, where the tests try it from then on.
"""
