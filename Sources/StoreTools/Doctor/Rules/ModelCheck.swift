/// Whether the model inside a store can be read and fits its tables.
enum ModelCheck {
  static func finding(unread problem: String) -> DoctorFinding {
    DoctorFinding(
      .model, table: "Z_MODELCACHE", examples: [problem],
      "the model inside the store cannot be read",
      nextStep: "Apple's framework writes it anew when the app opens the store with its own model")
  }

  static func finding(mismatch problem: String) -> DoctorFinding {
    DoctorFinding(
      .model, examples: [problem], "the store's own model does not fit its tables",
      nextStep: "look whether a migration was cut off, and take the store from a backup")
  }
}
