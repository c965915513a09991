"""Pictures of the real window: a home folder with sample models, and the states in which pictures are taken."""
