"""What a node of a network does, without input or output: the same in the simulator and behind sockets."""
