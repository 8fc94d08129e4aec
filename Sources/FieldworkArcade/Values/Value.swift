import FieldworkGeometry

/// A value while a script runs. Arrays and dictionaries are shared by reference, as the language has it, so a value
/// never leaves its evaluation: `ArcadeValue` does.
enum Value {
    case null
    case boolean(Bool)
    case number(Double)
    case text(String)
    case date(DateValue)
    case dateOnly(CalendarDay)
    /// Milliseconds since midnight.
    case time(Int)
    case array(ArrayObject)
    case dictionary(DictionaryObject)
    case function(FunctionValue)
    case geometry(Geometry)
    case feature(FeatureObject)
    case featureSet(FeatureSetObject)
    /// `$map` or `$datastore`.
    case collection(ArcadeLayerCollection)
    /// What `Portal` gives: its address.
    case portal(String)
}

/// A function that can be stored and passed on.
enum FunctionValue {
    case builtin(Builtin)
    /// The number of one of the script's own functions.
    case script(Int)
}

/// An array, shared by all who hold it.
final class ArrayObject {
    var elements: [Value]
    /// Whether it belongs to a geometry, whose coordinates don't change.
    let isFixed: Bool
    /// Levels of arrays and dictionaries inside when it was made.
    let depth: Int

    init(_ elements: [Value], isFixed: Bool = false) {
        self.elements = elements
        self.isFixed = isFixed
        depth = 1 + (elements.map(\.depth).max() ?? 0)
    }

    /// The place of an index, which counts from the end when it is negative; nil outside.
    func place(_ index: Int) -> Int? {
        let place = index < 0 ? elements.count + index : index
        return elements.indices.contains(place) ? place : nil
    }
}

/// A dictionary, shared by all who hold it: keys in the order in which they came, compared without regard to case.
final class DictionaryObject {
    private(set) var keys: [String] = []
    private(set) var values: [Value] = []
    private var places: [String: Int] = [:]
    /// Levels of arrays and dictionaries inside when it was made.
    private(set) var depth = 1
    /// Whether it is one of the profile's own, which don't change.
    let isFixed: Bool

    init(isFixed: Bool = false) { self.isFixed = isFixed }

    convenience init(_ members: [(String, Value)], isFixed: Bool = false) {
        self.init(isFixed: isFixed)
        for (key, value) in members { self[key] = value }
        depth = 1 + (values.map(\.depth).max() ?? 0)
    }

    var count: Int { keys.count }

    func place(of key: String) -> Int? { places[key] ?? places[key.lowercased()] }

    /// The value of a key; setting keeps the spelling that came first.
    subscript(key: String) -> Value? {
        get { place(of: key).map { values[$0] } }
        set {
            guard let newValue else { return }
            if let place = place(of: key) {
                values[place] = newValue
            } else {
                places[key.lowercased()] = keys.count
                keys.append(key)
                values.append(newValue)
            }
        }
    }

    /// Lets go of what it holds, so that circles of references end with their evaluation.
    func removeAll() {
        keys = []
        values = []
        places = [:]
    }
}

extension Value {
    /// Levels of arrays and dictionaries.
    var depth: Int {
        switch self {
        case .array(let array): array.depth
        case .dictionary(let dictionary): dictionary.depth
        default: 0
        }
    }

    /// The name of its type, as `TypeOf` gives it.
    var typeName: String {
        switch self {
        case .null, .collection: "Unrecognized Type"
        case .portal: "Portal"
        case .boolean: "Boolean"
        case .number: "Number"
        case .text: "Text"
        case .date: "Date"
        case .dateOnly: "DateOnly"
        case .time: "Time"
        case .array: "Array"
        case .dictionary: "Dictionary"
        case .function: "Function"
        case .feature: "Feature"
        case .featureSet: "FeatureSet"
        case .geometry(let geometry):
            switch geometry {
            case is Point: "Point"
            case is Multipoint: "Multipoint"
            case is Polyline: "Polyline"
            case is Polygon: "Polygon"
            default: "Extent"
            }
        }
    }

    var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// What its type is called in a message.
    var kindName: String {
        switch self {
        case .null: "null"
        case .collection: "a collection of layers"
        default: typeName.hasPrefix("A") || typeName.hasPrefix("E") ? "an \(typeName)" : "a \(typeName)"
        }
    }
}
