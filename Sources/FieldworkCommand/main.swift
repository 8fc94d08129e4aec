print("fieldwork")
