"""`.awkd` files: a zip archive, not compressed, of schemas (`events.json`) and blobs (`events-1.raw`)."""
