"""New versions of Sotto: when they are looked for, and how a person gets one."""
