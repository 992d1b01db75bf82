"""Windows of time: trained one after the other, as long as what happens in them allows."""
