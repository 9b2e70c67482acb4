public import OpenCoreData

/// A country, which has a unique code.
final class Country: NSManagedObject {
  @Managed("code") var code: String
  @Managed("moods") var moods: Set<Mood>
}

/// A mood, whose text has between 1 and 80 characters.
final class Mood: NSManagedObject {
  @Managed("text") var text: String
  @Managed("country") var country: Country?
}

/// The model of the service.
public enum MoodModel {
  /// Creates the model and registers its classes.
  public static func make() -> NSManagedObjectModel {
    Country.registerClass()
    Mood.registerClass()
    let (code, text) = (NSAttributeDescription(), NSAttributeDescription())
    (code.name, text.name) = ("code", "text")
    for attribute in [code, text] {
      attribute.attributeType = .stringAttributeType
      attribute.isOptional = false
    }
    text.setValidationPredicates(
      [NSPredicate(format: "length >= 1"), NSPredicate(format: "length <= 80")],
      withValidationWarnings: [NSValidationStringTooShortError, NSValidationStringTooLongError])

    let (country, mood) = (NSEntityDescription(), NSEntityDescription())
    let (moods, home) = (NSRelationshipDescription(), NSRelationshipDescription())
    (moods.name, home.name) = ("moods", "country")
    (moods.destinationEntity, home.destinationEntity) = (mood, country)
    (moods.inverseRelationship, home.inverseRelationship) = (home, moods)
    home.maxCount = 1
    (country.name, country.managedObjectClassName) = ("Country", "Country")
    country.properties = [code, moods]
    country.uniquenessConstraints = [["code"]]
    (mood.name, mood.managedObjectClassName) = ("Mood", "Mood")
    mood.properties = [text, home]

    let model = NSManagedObjectModel()
    model.entities = [country, mood]
    return model
  }
}
