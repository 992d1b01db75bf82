"""Whether a problem is well posed, as its equations and conditions state it."""
