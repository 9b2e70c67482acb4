print("cdprof")
