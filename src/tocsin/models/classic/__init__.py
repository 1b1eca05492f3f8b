"""Small models with known laws: templates to copy, and the ground truth of the tests."""
