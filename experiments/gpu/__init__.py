"""Steps and runs on a GPU beside the peers', and what a step asks of the device."""
