"""From two gradients to a verdict, stage by stage, and the words for it."""
