"""What is doubtful in a table: rows and names, which detection tells, and the few cells unlike others."""
