"""How bytes and texts of tenants are sealed before they are kept. Pure values: keys come from `tenants.encryption`."""
