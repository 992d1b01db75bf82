"""What the accuracy of the suite's problems comes from: each with one thing changed at a time."""
