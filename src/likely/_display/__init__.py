"""What people see, whatever room it comes from: progress bars, text tables, markup. Private."""
