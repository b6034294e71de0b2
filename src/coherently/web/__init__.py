"""The workbench: questions, answers and aggregates in the browser and over REST. The library imports nothing of it."""
