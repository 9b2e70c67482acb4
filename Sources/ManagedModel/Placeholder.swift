// ManagedModel
