import Foundation

extension TreesField {
    /// The web map of the trees: neighbourhoods beneath, which can't be tapped; trees above; species and inspections as
    /// tables. Its pop-ups name what is shown, its form of trees has groups.
    static func webMap(_ root: URL) -> String {
        let service = "\(root.absoluteString)/Trees/FeatureServer"
        return """
            {"version":"2.31","authoringApp":"Fieldwork","operationalLayers":[
            {"id":"hoods","title":"Neighborhoods","layerType":"ArcGISFeatureLayer","url":"\(service)/1","visibility":true,
             "disablePopup":true},
            {"id":"trees","title":"Street trees","layerType":"ArcGISFeatureLayer","url":"\(service)/0","visibility":true,
             "popupInfo":\(treePopup),"formInfo":\(treeForm)}],
            "tables":[
            {"id":"species","title":"Species","layerType":"ArcGISFeatureLayer","url":"\(service)/2",
             "popupInfo":{"title":"{CommonName}","fieldInfos":[
              {"fieldName":"CommonName","label":"Common name","visible":true},
              {"fieldName":"ScientificName","label":"Scientific name","visible":true}],
              "popupElements":[{"type":"fields"}]}},
            {"id":"inspections","title":"Inspections","layerType":"ArcGISFeatureLayer","url":"\(service)/3",
             "popupInfo":{"title":"Inspection {Inspected}","fieldInfos":[
              {"fieldName":"Inspected","label":"Date","visible":true,"isEditable":true,
               "format":{"dateFormat":"shortDate"}},
              {"fieldName":"Condition","label":"Condition","visible":true,"isEditable":true},
              {"fieldName":"DBH","label":"Trunk diameter","visible":true,"isEditable":true,
               "format":{"places":1,"digitSeparator":true}},
              {"fieldName":"Notes","label":"Notes","visible":true,"isEditable":true,"stringFieldOption":"textarea"}],
              "popupElements":[{"type":"fields"}]}}],
            "initialState":{"viewpoint":{"targetGeometry":{"xmin":-122.634,"ymin":45.564,"xmax":-122.622,"ymax":45.568,
             "spatialReference":{"wkid":4326}}}},
            "spatialReference":{"wkid":102100,"latestWkid":3857}}
            """
    }

    private static let treePopup = """
        {"title":"{Address}","fieldInfos":[
        {"fieldName":"Condition","label":"Condition","visible":true,"isEditable":true},
        {"fieldName":"DBH","label":"Trunk diameter (DBH)","visible":true,"isEditable":true,
         "format":{"places":1,"digitSeparator":true}},
        {"fieldName":"Address","label":"Address","visible":true,"isEditable":true},
        {"fieldName":"Neighborhood","label":"Neighborhood","visible":true,"isEditable":false},
        {"fieldName":"Notes","label":"Notes","visible":false,"isEditable":true}],
        "popupElements":[{"type":"text","text":"<p>Cared for in <b>{Neighborhood}</b>.</p>"},{"type":"fields"},
        {"type":"relationship","relationshipId":1,"title":"Inspections","displayCount":3,
         "orderByFields":[{"field":"Inspected","order":"desc"}]}]}
        """

    private static let treeForm = """
        {"title":"Tree at {Address}","formElements":[
        {"type":"field","fieldName":"Condition","label":"Condition","editableExpression":"expr/system/true",
         "requiredExpression":"expr/system/true","inputType":{"type":"radio-buttons","showNoValueOption":false}},
        {"type":"group","label":"Measures","description":"Taken at 1.3 metres","initialState":"expanded",
         "formElements":[{"type":"field","fieldName":"DBH","label":"Trunk diameter (DBH)","hint":"Inches",
         "editableExpression":"expr/system/true"}]},
        {"type":"group","label":"Place","initialState":"collapsed","formElements":[
         {"type":"field","fieldName":"Address","label":"Address","editableExpression":"expr/system/true",
          "inputType":{"type":"text-box","minLength":3,"maxLength":40}},
         {"type":"field","fieldName":"Neighborhood","label":"Neighborhood"}]},
        {"type":"field","fieldName":"Notes","label":"Notes","editableExpression":"expr/system/true",
         "inputType":{"type":"text-area","maxLength":120}}]}
        """
}

extension TreesField {
    /// The map with the behaviours of the seed's Trees of Portland.
    @Sendable static func withRules(_ map: String) -> String {
        let rules = """
            "fieldworkRules":[{"type":"fillFromContainingFeature","layerId":"trees","sourceLayerId":"hoods",
            "fields":{"Neighborhood":"Name"}},{"type":"followNewestRecord","layerId":"trees","relationshipId":1,
            "newestBy":"Inspected","fields":{"Condition":"Condition","DBH":"DBH"}},{"type":"laterVersion"},
            {"type":"fillAddress","layerId":"trees","field":"Address"}],
            """
        return map.replacingOccurrences(of: #""initialState""#, with: rules + #""initialState""#)
    }
}
