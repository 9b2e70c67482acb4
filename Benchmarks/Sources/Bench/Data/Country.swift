public import OpenCoreData

/// The parent of moods.
///
/// It's public because generated properties are public.
public final class Country: NSManagedObject {
  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
}
