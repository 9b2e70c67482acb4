// CoreDataCosts
