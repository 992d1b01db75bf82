"""What a run is changed into before it begins, where its problem asks for that."""
