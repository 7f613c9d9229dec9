"""A long run whose processes are killed at random: what does it lose?"""
