"""What a case would catch: faults that are planted in gradients, and their fates."""
