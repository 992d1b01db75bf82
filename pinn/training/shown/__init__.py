"""What training shows of itself while it goes on."""
