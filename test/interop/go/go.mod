module penstock.invalid/interop

go 1.25.0
