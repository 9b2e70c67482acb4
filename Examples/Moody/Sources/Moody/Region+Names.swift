public import OpenCoreData

extension Region {
  /// Returns the name of the country or continent in a language, or its number if it's unknown.
  ///
  /// Names aren't stored, because they depend on the locale; see `SortedObjects` for lists in their
  /// order.
  public func localizedName(in locale: Locale) -> String {
    ISO3166.name(of: numericISO3166Code, locale: locale)
  }
}

extension Country {
  /// Returns the country with an ISO 3166 number, or inserts it together with its continent.
  ///
  /// A country or continent that's marked for deletion because its last mood was deleted is no
  /// longer marked.
  ///
  /// **Cost**: see `findOrFetch(in:matching:)`, once for the country, and once for the continent if
  /// the country is new or was marked.
  ///
  /// - Throws: The error of a fetch.
  public static func findOrCreate(
    for code: Int16, in context: NSManagedObjectContext
  ) throws -> Country {
    let country = try findOrCreate(in: context, matching: predicate(forCode: code)) {
      $0.numericISO3166Code = code
    }
    try country.joinContinent()
    return country
  }

  /// Sets the continent if the country has none, and unmarks the country.
  ///
  /// - Throws: The error of a fetch.
  public func joinContinent() throws {
    if markedForDeletionDate != nil { markedForDeletionDate = nil }
    guard let managedObjectContext, continent == nil,
      let code = ISO3166.continent(ofCountry: numericISO3166Code)?.rawValue
    else { return }
    let continent = try Continent.findOrCreate(
      in: managedObjectContext, matching: Continent.predicate(forCode: code)
    ) { $0.numericISO3166Code = code }
    if continent.markedForDeletionDate != nil { continent.markedForDeletionDate = nil }
    self.continent = continent
  }

  /// Returns whether a number can be a country's, which no number of a continent can.
  ///
  /// Both are in one table with a uniqueness constraint.
  public static func isCode(_ code: Int16) -> Bool {
    ISO3166.Continent(rawValue: code) == nil
  }

  /// Returns the ISO 3166 number of a two-letter country code, or `nil` if the code is unknown.
  public static func code(forLetters letters: String) -> Int16? {
    ISO3166.number(ofCountry: letters.uppercased())
  }
}

extension FetchableEntity where Self: Region {
  fileprivate static func predicate(forCode code: Int16) -> NSPredicate {
    NSPredicate(format: "numericISO3166Code == %ld", Int(code))
  }
}
