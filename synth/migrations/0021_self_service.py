
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("synth", "0020_entry_text_search"),
    ]

    operations = [
        migrations.AddField(
            model_name='policy',
            name='by_tenant',
            field=models.BooleanField(db_default=False, default=False, editable=False, verbose_name='made by the tenant'),
        ),
    ]
