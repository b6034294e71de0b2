"""What is sent and what is answered, as strict models; the pages and the REST API use the same ones."""
