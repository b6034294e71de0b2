"""What a store holds, one module for each kind of thing."""
