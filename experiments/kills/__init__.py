"""Runs that are killed at random moments and gone on with, beside ones that never stopped."""
