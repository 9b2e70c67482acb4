import ManagedModel
import OpenCoreData

/// Drivers, cars, and garages with every kind of validation limit, as a model document.
enum DrivingModel {
  /// - Parameter driverClass: The class of the drivers.
  static func make(
    driver driverClass: NSManagedObject.Type = NSManagedObject.self
  ) throws -> NSManagedObjectModel {
    driverClass.registerClass()
    let text = document.replacingOccurrences(
      of: "DRIVER", with: String(describing: driverClass))
    return try ModelDocument.read(data: Data(text.utf8), file: "Driving")
  }

  private static let document = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Driver" representedClassName="DRIVER">
        <attribute name="name" optional="YES" attributeType="String" defaultValueString="N. N."/>
        <attribute name="age" optional="YES" attributeType="Integer 16" minValueString="0" \
    maxValueString="150"/>
        <attribute name="height" optional="YES" attributeType="Double" minValueString="0.5" \
    maxValueString="2.5"/>
        <attribute name="born" optional="YES" attributeType="Date" minDateTimeInterval="0" \
    maxDateTimeInterval="1000"/>
        <attribute name="plate" optional="YES" attributeType="String" minValueString="2" \
    maxValueString="4" regularExpressionString="[A-Z]+[0-9]*"/>
        <attribute name="serial" optional="YES" attributeType="Integer 32"/>
        <attribute name="narrow" optional="YES" attributeType="Integer 16"/>
        <attribute name="hasLicence" attributeType="Boolean" defaultValueString="NO"/>
        <attribute name="longitude" optional="YES" attributeType="Double"/>
        <attribute name="note" optional="YES" transient="YES" attributeType="String"/>
        <attribute name="storage" optional="YES" attributeType="Binary"/>
        <attribute name="shade" optional="YES" transient="YES" attributeType="Undefined"/>
        <relationship name="cars" optional="YES" toMany="YES" minCount="3" maxCount="40" \
    deletionRule="Nullify" destinationEntity="Car" inverseName="driver" inverseEntity="Car"/>
      </entity>
      <entity name="Car" representedClassName="NSManagedObject">
        <attribute name="name" attributeType="String"/>
        <relationship name="driver" optional="YES" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Driver" inverseName="cars" inverseEntity="Driver"/>
      </entity>
      <entity name="Garage" representedClassName="NSManagedObject">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="cars" toMany="YES" minCount="3" maxCount="40" \
    deletionRule="No Action" destinationEntity="Car"/>
        <relationship name="keeper" maxCount="1" deletionRule="No Action" \
    destinationEntity="Driver"/>
      </entity>
    </model>
    """
}
