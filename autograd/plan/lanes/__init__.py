"""Programs compiled whole: points lie in the lanes of vectors, tiles of them run without Python."""
