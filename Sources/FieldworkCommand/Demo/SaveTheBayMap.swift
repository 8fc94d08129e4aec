import FieldworkGeometry
import FieldworkREST

extension SaveTheBayDemo {
    /// The map of the sightings, for the members of a group.
    static func map(services: String) -> JSONValue {
        let layers = SaveTheBayDemo().definition.layers.map { layer -> JSONValue in
            let fields = layer.fields.filter(\.isEditable).map { field -> JSONValue in
                [
                    "fieldName": .string(field.name), "label": .string(field.alias), "visible": true,
                    "isEditable": true,
                ]
            }
            return [
                "id": .string("sightings-\(layer.id)"), "layerType": "ArcGISFeatureLayer", "title": .string(layer.name),
                "url": .string("\(services)/\(name.name)/FeatureServer/\(layer.id)"), "visibility": true, "opacity": 1,
                "popupInfo": ["title": "{type}, {number} seen", "fieldInfos": .array(fields)],
            ]
        }
        return [
            "version": "2.31", "authoringApp": "Fieldwork", "authoringAppVersion": "1",
            "operationalLayers": .array(layers), "baseMap": ["title": "None", "baseMapLayers": []],
            "spatialReference": ["wkid": 102_100, "latestWkid": 3857],
            "initialState": [
                "viewpoint": [
                    "targetGeometry": [
                        "xmin": -10_625_000, "ymin": 3_360_000, "xmax": -10_510_000, "ymax": 3_480_000,
                        "spatialReference": ["wkid": 102_100, "latestWkid": 3857],
                    ]
                ]
            ],
        ]
    }
}
