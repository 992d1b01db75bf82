"""The problems that users of the peers solve, each as one config, with a reference."""
