"""Lower bounds on what coherent forecasts of a component must lose."""
