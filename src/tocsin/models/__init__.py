"""Complete worlds, each as good as the best dedicated tool of its field."""
