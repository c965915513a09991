"""Models on disk: names, manifests, blobs, discovery and integrity; writes to Sotto's own folders alone."""
