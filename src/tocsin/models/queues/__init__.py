"""The small classics of discrete-event simulation, each with a closed form: templates to copy."""
