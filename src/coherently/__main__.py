"""`python -m coherently` is `coherently`."""

from coherently.cli import main

if __name__ == "__main__":
    main()
