"""How the elementary functions' coefficients are found, and how accurate and fast they are."""
