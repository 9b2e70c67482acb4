public import OpenCoreData

/// The parent of moods, public because generated properties are.
public final class Country: NSManagedObject {
  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
}
