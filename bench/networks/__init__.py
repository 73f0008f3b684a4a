"""Networks of every day with random weights: torchvision's, and small ones after published descriptions."""
