"""Models on disk: names, manifests, blobs, folders, discovery and integrity. Reads only; nothing foreign is written."""
